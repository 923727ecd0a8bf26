// Where one stands: the list that a thing is in, and its name.
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { plainLine } from '../elements/plain-text.ts';

export function Crumbs(props: {
  readonly to: '/agents' | '/threads' | '/tools';
  readonly list: string;
  readonly name: string;
  readonly charactersMax?: number;
}): ReactElement {
  const { to, list, name, charactersMax = 80 } = props;
  return (
    <>
      <Link to={to} className="crumb">
        {list}
      </Link>
      <span aria-hidden="true">/</span>
      <h1>
        <bdi>{plainLine(name, charactersMax)}</bdi>
      </h1>
    </>
  );
}
