// The filters of the list of threads: each change is a new address, without a new entry in the history.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState, type ReactElement } from 'react';
import { agents } from '../api/queries.ts';
import { Segments } from '../elements/segments.tsx';
import type { ThreadsSearch } from '../search.ts';

const statuses = [undefined, 'thinking', 'waiting', 'idle', 'opening', 'parked', 'closed'] as const;
type Filter = Omit<ThreadsSearch, 'new'>;
const typingMs = 300;

export function ThreadFilters({ filter }: { readonly filter: Filter }): ReactElement {
  const navigate = useNavigate();
  const { data: known = [] } = useQuery(agents);
  const set = (change: Filter): void =>
    void navigate({ to: '/threads', search: { ...filter, ...change }, replace: true });
  const { user, external, parent, label, since } = filter;
  const isMoreUsed = [user, external, parent, label, since].some((value) => value !== undefined);
  return (
    <search className="filters">
      <Segments
        label="Status"
        values={statuses}
        chosen={filter.status}
        choose={(status) => set({ status })}
        text={(status) => status ?? 'all'}
      />
      <label className="field inline">
        <span>Agent</span>
        <select value={filter.agent ?? ''} onChange={(event) => set({ agent: event.target.value || undefined })}>
          <option value="">any</option>
          {known.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <details className="more-filters" open={isMoreUsed || undefined}>
        <summary>More filters</summary>
        <div className="row">
          <FilterText name="User" value={user} set={(text) => set({ user: text })} />
          <FilterText name="External id" value={external} set={(text) => set({ external: text })} />
          <FilterText name="Label" placeholder="key=value" value={label} set={(text) => set({ label: text })} />
          <FilterText name="Parent" placeholder="thr_…" value={parent} set={(text) => set({ parent: text })} />
          <label className="field inline">
            <span>Opened since</span>
            <input
              type="date"
              value={since ?? ''}
              onChange={(event) => set({ since: event.target.value || undefined })}
            />
          </label>
        </div>
      </details>
    </search>
  );
}

function FilterText(props: {
  readonly name: string;
  readonly placeholder?: string;
  readonly value: string | undefined;
  readonly set: (text: string | undefined) => void;
}): ReactElement {
  const { name, placeholder, value = '', set } = props;
  const [text, setText] = useState(value);
  const [seen, setSeen] = useState(value);
  if (seen !== value) {
    setSeen(value); // another address: its text replaces what was typed
    setText(value);
  }
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => set(text === '' ? undefined : text), typingMs);
    return () => clearTimeout(timer);
  });
  return (
    <label className="field inline">
      <span>{name}</span>
      <input type="text" value={text} placeholder={placeholder} onChange={(event) => setText(event.target.value)} />
    </label>
  );
}
