// The content of a message or a result: texts and pictures.
import type { ContentItem } from '@dormouse/client';
import type { ReactElement } from 'react';
import { plainText } from '../../elements/plain-text.ts';
import { Picture } from './picture.tsx';

export function Content({ items }: { readonly items: readonly ContentItem[] }): ReactElement {
  return (
    <>
      {items.map((item, index) =>
        item.type === 'image' ? (
          <Picture key={index} mediaType={item.media_type} data={item.data} blob={item.blob} />
        ) : (
          <p key={index} className="plain" dir="auto">
            {plainText(item.text)}
            {item.blob === undefined ? null : <span className="quiet">… ({item.bytes ?? '?'} bytes)</span>}
          </p>
        ),
      )}
    </>
  );
}
