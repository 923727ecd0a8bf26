// A picture of a user or a tool: only kinds that cannot run anything, and never from another place.
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { useThreadView } from '../thread-context.ts';
import { watchedFetch } from '../../api/connection.ts';
import { plainLine } from '../../elements/plain-text.ts';

const harmless = /^image\/(?:png|jpeg|gif|webp)$/;

export function Picture(props: {
  readonly mediaType: string;
  readonly data?: string | undefined;
  readonly blob?: string | undefined;
  readonly label?: string;
}): ReactElement {
  const { mediaType, data, blob, label = 'A picture' } = props;
  if (!harmless.test(mediaType)) return <p className="quiet">[{plainLine(mediaType, 60)} is not shown]</p>;
  if (data !== undefined)
    return <img className="picture" alt={label} src={`data:${mediaType};base64,${standard(data)}`} />;
  return blob === undefined ? (
    <p className="quiet">[picture]</p>
  ) : (
    <StoredPicture mediaType={mediaType} sha256={blob} label={label} />
  );
}

function StoredPicture({
  mediaType,
  sha256,
  label,
}: {
  readonly mediaType: string;
  readonly sha256: string;
  readonly label: string;
}): ReactElement {
  const { thread } = useThreadView();
  const { data } = useQuery({
    queryKey: ['blob', thread.id, sha256],
    queryFn: async () => {
      const response = await watchedFetch(
        `/v1/threads/${encodeURIComponent(thread.id)}/blobs/${encodeURIComponent(sha256)}`,
      );
      if (!response.ok) throw new Error(`the picture could not be read: ${response.status}`);
      return dataUrl(mediaType, new Uint8Array(await response.arrayBuffer()));
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data === undefined ? <p className="quiet">[picture]</p> : <img className="picture" alt={label} src={data} />;
}

/** Some tools write base64 in the alphabet for URLs. */
const standard = (base64: string): string => base64.replaceAll('-', '+').replaceAll('_', '/');

function dataUrl(mediaType: string, bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += 8_192)
    text += String.fromCharCode(...bytes.subarray(start, start + 8_192));
  return `data:${mediaType};base64,${btoa(text)}`;
}
