// The content of a message or a result: texts and pictures.
import type { ContentItem } from '@dormouse/client';
import type { ReactElement } from 'react';
import { Plain } from '../../elements/plain.tsx';
import { Picture } from './picture.tsx';

export function Content({ items }: { readonly items: readonly ContentItem[] }): ReactElement {
  return (
    <>
      {items.map((item, index) =>
        item.type === 'image' ? (
          <Picture key={index} mediaType={item.media_type} data={item.data} blob={item.blob} />
        ) : (
          <Plain key={index} text={item.text}>
            {item.blob === undefined ? null : <span className="quiet">… ({item.bytes ?? '?'} bytes)</span>}
          </Plain>
        ),
      )}
    </>
  );
}
