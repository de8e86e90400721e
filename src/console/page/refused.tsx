import type { ComponentChild } from 'preact';
import type { Detail } from '../detail.ts';
import { grouped } from '../words.ts';
import { Difference } from './difference.tsx';
import { text, time } from './format.ts';

/** A refused value: why, and what it would change. */
export function Refused({
  of: { reason, since, size, difference },
}: {
  of: NonNullable<Detail['refused']>;
}): ComponentChild {
  return (
    <section class="warn wide">
      <h2>Refused value</h2>
      <p>The value that was loaded last was refused, and is not served:</p>
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
      {difference && (
        <>
          <h3>From the value before to the refused one</h3>
          <Difference of={difference} />
        </>
      )}
    </section>
  );
}
