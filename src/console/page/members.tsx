import { type Signal, signal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import { isToldBy } from '../causes.ts';
import { LEVELS, type Level } from '../rows.ts';
import { counted, grouped, instancesText, levelText } from '../words.ts';
import { text } from './format.ts';
import { Matrix } from './matrix.tsx';
import { counts, level, order, outages, overview, search, shown } from './state.ts';

/** All members on all instances, problems first. */
export function Members(): ComponentChild {
  const known = overview.value;
  if (known === undefined) return <p class="quiet">Loading…</p>;
  return (
    <>
      <h1 tabIndex={-1}>Members</h1>
      {outages.value.map((outage) => (
        <p key={outage} class="alert" role="alert">
          Loads are not shared: {text(outage)}
        </p>
      ))}
      {known.fleetError !== undefined && (
        <p class="alert" role="alert">
          Other instances are not known
          {isToldBy(outages.value, known.fleetError)
            ? ': their reports are at a backend that does not answer'
            : `: ${text(known.fleetError)}`}
        </p>
      )}
      {known.group.closed && <p class="alert">The group is closed: nothing is loaded any more.</p>}
      <div class="filters">
        {LEVELS.filter(
          (one) => !OCCASIONAL.includes(one) || counts.value[one] > 0 || level.value === one,
        ).map((one) => (
          <LevelFilter key={one} of={one} />
        ))}
        <label class="search">
          <span>Search</span>
          <input
            type="search"
            value={search.value}
            onInput={(event) => (search.value = event.currentTarget.value)}
            placeholder="name or problem"
          />
        </label>
        <p class="quiet" role="status">
          {shown.value.length === order.value.length
            ? counted(order.value.length, 'member')
            : `${grouped(shown.value.length)} of ${counted(order.value.length, 'member')}`}
          {known.instances.length > 0 && `, ${instancesText(known.instances)}`}
        </p>
      </div>
      {order.value.length === 0 ? <p class="quiet">The group has no members.</p> : <Matrix />}
      <Legend />
    </>
  );
}

/** Levels that are shown where a member has them. */
const OCCASIONAL: readonly Level[] = ['backup', 'unshared'];

function LevelFilter({ of }: { of: Level }) {
  const isOn = level.value === of;
  return (
    <button
      type="button"
      class={`chip ${of}`}
      aria-pressed={isOn}
      onClick={() => (level.value = isOn ? undefined : of)}
    >
      <b>{grouped(counts.value[of])}</b> {levelText(of, counts.value[of])}
    </button>
  );
}

const isLegendOpen: Signal<boolean> = signal(false);

function Legend() {
  return (
    <details
      class="legend"
      open={isLegendOpen.value}
      onToggle={(event) => (isLegendOpen.value = event.currentTarget.open)}
    >
      <summary>What the signs mean</summary>
      <ul>
        <li>
          <span class="cell ok">●</span> has the newest version
        </li>
        <li>
          <span class="cell note">▲</span> has an older version than another instance
        </li>
        <li>
          <span class="cell bad">✖</span> its reads fail on this instance
        </li>
        <li>
          <span class="cell warn">✕</span> its last load failed
        </li>
        <li>
          <span class="cell warn">!</span> its last loaded value was refused
        </li>
        <li>
          <span class="cell note">◆</span> an operator has pinned the version
        </li>
        <li>
          <span class="cell none">○</span> has no value
        </li>
        <li>
          <span class="cell none">·</span> does not have the member, or does not report it
        </li>
      </ul>
      <p>
        Instances are known by their reports, which need a store. One that does not report is idle, since it
        is not read, or gone: its signs are grey, and it is shown for ten minutes.
      </p>
    </details>
  );
}
