// Assigns partitions to members: each member keeps what it has, as far as shares stay even. Completions that run in a
// process belong to threads of its partitions; when a partition moves, they may be paid for again.
//
// Invariants:
//   S1. Every partition has exactly one owner; shares differ by at most one.
//   S2. A partition moves only when its owner is gone or has more than its share.
//   S3. Of two members that claim a partition, the one of the later generation owns it.
import { AssignerProtocol, type PartitionAssigner } from 'kafkajs';
import { hooksName, type MembershipHooks } from './kafkajs-internals.ts';

export interface MemberClaims {
  readonly member: string;
  readonly generation: number;
  readonly owned: readonly number[];
}

/** Partitions by member. (S1, S2, S3) */
export function assignSticky(
  partitionCount: number,
  members: readonly MemberClaims[],
): ReadonlyMap<string, readonly number[]> {
  const byName = members.toSorted((left, right) => (left.member < right.member ? -1 : 1));
  const shares = new Map<string, number[]>(byName.map(({ member }) => [member, []]));
  if (byName.length === 0) return shares;
  const small = Math.floor(partitionCount / byName.length);
  let larger = partitionCount % byName.length;
  const taken = new Set<number>();
  const latestFirst = byName.toSorted((left, right) => right.generation - left.generation);
  const wanted = new Map<string, number[]>();
  for (const { member, owned } of latestFirst) {
    const mine = owned.filter((partition) => partition < partitionCount && !taken.has(partition));
    for (const partition of mine) taken.add(partition);
    wanted.set(member, mine);
  }
  taken.clear();
  // Members with the most partitions get the shares that are one larger.
  const mostFirst = byName.toSorted(
    (left, right) => (wanted.get(right.member)?.length ?? 0) - (wanted.get(left.member)?.length ?? 0),
  );
  for (const { member } of mostFirst) {
    const mine = wanted.get(member) ?? [];
    const share = mine.length > small && larger > 0 ? small + 1 : small;
    if (share > small) larger -= 1;
    const kept = mine.slice(0, share);
    for (const partition of kept) taken.add(partition);
    shares.get(member)?.push(...kept);
  }
  for (let partition = 0; partition < partitionCount; partition += 1) {
    if (!taken.has(partition)) leastLoaded(shares).push(partition);
  }
  return shares;
}

function leastLoaded(shares: ReadonlyMap<string, number[]>): number[] {
  let least: number[] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const share of shares.values()) {
    if (share.length >= size) continue;
    least = share;
    size = share.length;
  }
  return least;
}

const assignerName = 'dormouse-sticky';
const assignerVersion = 1;

/** For one consumer of one topic. `owned` returns what it holds now, and since which generation. */
export function stickyAssigner(owned: () => Omit<MemberClaims, 'member'>, hooks: MembershipHooks): PartitionAssigner {
  return ({ cluster }) => ({
    name: assignerName,
    version: assignerVersion,
    [hooksName]: hooks,
    protocol: ({ topics }) => ({
      name: assignerName,
      metadata: AssignerProtocol.MemberMetadata.encode({
        version: assignerVersion,
        topics,
        userData: Buffer.from(JSON.stringify(owned())),
      }),
    }),
    assign: async ({ members, topics }) => {
      const [topic = ''] = topics;
      const count = cluster.findTopicPartitionMetadata(topic).length;
      const claims = members.map(({ memberId, memberMetadata }) => claimsOf(memberId, memberMetadata));
      return [...assignSticky(count, claims)].map(([memberId, partitions]) => ({
        memberId,
        memberAssignment: AssignerProtocol.MemberAssignment.encode({
          version: assignerVersion,
          assignment: { [topic]: [...partitions] },
          userData: Buffer.alloc(0),
        }),
      }));
    },
  });
}

/** A member without readable claims owns nothing. */
function claimsOf(member: string, metadata: Buffer): MemberClaims {
  const { userData } = AssignerProtocol.MemberMetadata.decode(metadata) ?? { userData: Buffer.alloc(0) };
  try {
    const said = JSON.parse(userData.toString('utf8')) as Partial<MemberClaims>;
    const owned = Array.isArray(said.owned) ? said.owned.filter(Number.isInteger) : [];
    return { member, generation: Number(said.generation ?? -1), owned };
  } catch {
    return { member, generation: -1, owned: [] };
  }
}
