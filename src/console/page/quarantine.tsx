import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Detail } from '../detail.ts';
import type { ShownQuarantine } from '../quarantine.ts';
import { grouped } from '../words.ts';
import { get } from './api.ts';
import { Difference } from './difference.tsx';
import { age, text, time } from './format.ts';

/** A refused value: why, and what it would change. */
export function Quarantine({
  id,
  keyId,
  of: { reason, since, loadedAt, size, note, digest },
  seen,
}: {
  id: string;
  keyId: string | undefined;
  of: NonNullable<Detail['quarantine']>;
  /** The digest of what is shown. */
  seen: Signal<string | undefined>;
}): ComponentChild {
  const isKept = note === undefined;
  const shown = useSignal<ShownQuarantine | string | undefined>(undefined);
  // Compared once for each refused value: large ones take their time.
  useEffect(() => {
    shown.value = undefined;
    seen.value = digest;
    let isPresent = isKept;
    if (!isKept) return undefined;
    const put = (found: ShownQuarantine | string): void => {
      if (!isPresent) return;
      shown.value = found;
      seen.value = typeof found === 'string' ? undefined : found.digest;
    };
    const query = keyId === undefined ? { id } : { id, key: keyId };
    get<ShownQuarantine>('quarantine', query).then(put, (error: Error) => put(error.message));
    return () => {
      isPresent = false;
    };
  }, [loadedAt, isKept]);
  return (
    <section class="warn wide">
      <h2>Quarantine</h2>
      <p>The value that was loaded {age(loadedAt)} ago was refused, and is not served:</p>
      <p>
        <bdi>{text(reason)}</bdi>
      </p>
      <dl>
        <dt>Refusing since</dt>
        <dd>{time(since)}</dd>
        {size !== undefined && (
          <>
            <dt>Size</dt>
            <dd>{grouped(size)}</dd>
          </>
        )}
      </dl>
      {note && <p>{text(note)}</p>}
      <div aria-live="polite">{shown.value !== undefined && <Refused of={shown.value} />}</div>
    </section>
  );
}

function Refused({ of }: { of: ShownQuarantine | string }) {
  if (typeof of === 'string') return <p class="alert">{text(of)}</p>;
  return (
    <>
      <h3>From the value in place to the refused one</h3>
      {of.differenceError !== undefined && <p class="alert">Not compared: {text(of.differenceError)}</p>}
      {of.difference && <Difference of={of.difference} />}
      {!of.difference && of.differenceError === undefined && <p class="quiet">No value is in place.</p>}
      {of.value !== undefined && (
        <details>
          <summary>The refused value</summary>
          <pre tabIndex={0} role="region" aria-label="Refused value">
            {of.value}
          </pre>
        </details>
      )}
    </>
  );
}
