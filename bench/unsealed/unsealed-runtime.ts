// The runtime whose stores get contents as they are; see `unsealed-contents.ts`.
import type { Stores } from '@dormouse/ports';

export * from '@dormouse/runtime';

export const sealedStores = <Given extends Stores>(stores: Given): Given => stores;
