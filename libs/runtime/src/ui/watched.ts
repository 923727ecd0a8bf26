// What an encoder is fed: a thread's stream as it is followed with marks, with questions in the API's JSON beside the
// values.
import { apiJson } from '../ingress-gateway/read/api-json.ts';
import type { Frame, Mark } from '../ingress-gateway/watch/follow.ts';

/** The thread after a commit, or when all that was stored has been given. Comes after the commit's events. */
export interface ThreadMark {
  readonly frame: 'mark';
  /** `waitingOn` in the API's JSON. */
  readonly data: Omit<Mark, 'waitingOn'> & { readonly waitingOn: readonly object[] };
}

type Framed<Name extends Frame['frame']> = Extract<Frame, { readonly frame: Name }>;

export type Watched =
  | Framed<'event'>
  | Framed<'delta'>
  | (Framed<'choice'> & { readonly json: object })
  | (Framed<'oauth'> & { readonly json: object })
  | ThreadMark;

/** Null for frames that no encoder takes. */
export function watchedOf(frame: Frame): Watched | null {
  switch (frame.frame) {
    case 'event':
    case 'delta':
      return frame;
    case 'choice':
    case 'oauth':
      return { ...frame, json: apiJson(frame.data) as object };
    case 'mark':
      return {
        ...frame,
        data: { ...frame.data, waitingOn: frame.data.waitingOn.map((each) => apiJson(each) as object) },
      };
    default:
      return null;
  }
}
