import type { TicklessEvent } from '../../../../../src/index.ts';
import { wordOf } from '../../../../support/events.ts';
import type { Effect } from '../../../../support/record-effects.ts';
import { type Edition, markIn, serialIn } from '../../data/edition.ts';
import type { DataRun } from '../../data/watch.ts';
import type { Message } from '../../message.ts';
import { CLIENT_TIMEOUT_MS } from '../../network.ts';
import type { HeldKey } from '../held-key.ts';
import type { KeysInstance } from '../instance.ts';
import { NAME, nameOf } from '../scenario.ts';
import type { KeyOrder, KeysWatch } from '../watch.ts';
import type { KeysWorld } from '../world.ts';

/** A check that is under way when something is published ends within that, and the next one is due. */
const UNDER_WAY_MS = 15;

/** The check, a read of the invalidation log and one of the key, with their ways and the lateness of timers. */
const COMMANDS_MS = 50;

/** A backend that has not answered rests for half a minute at most. */
const RESTS_MS = 35_000;

/** A command over a sound connection, there and back: to that time an instance knows when a change elsewhere was made. */
const KNOWN_TO_MS = 10;

/** So many of the last orders of each subject are watched. */
const WATCHED = 8;

/** What a person has done for all instances, and the store has it. */
interface Known {
  readonly order: KeyOrder;
  readonly version: number;
  /** When its value began, whatever the source says of the same value later. A refresh may be answered by a load that was under way. */
  readonly begunAt: number;
  readonly resolvedAt: number;
  /** The first read of each instance that must have led to a check which finds it. */
  readonly readAt: Map<KeysInstance, number>;
}

/**
 * Rule 24 for keys: an instance that is read, and can reach the store, serves nothing that is older than a dropping mark of its
 * key or of all keys, or than a value that was set or loaded for all, for longer than `propagateWithin` and three commands.
 * What is older than a mark of its tag, or of an invalidation, is due from then on. None of that is adopted again, also by an
 * instance that starts later.
 *
 * A value is newer if it was published under a higher version, or if its load or its `set` began after the order; one of this
 * instance alone also if it began a command's time before. What was set has no tags. What a person sets on one instance alone is also newer than all that was replaced, in the order of versions, by
 * what any instance was asked to set or drop for all before.
 */
export class Marks implements KeysWatch {
  readonly #world: KeysWorld;
  /** When the load or the `set` of each value began. */
  readonly #begun: Map<number, number> = new Map();
  /** When the source was last found to say the same. */
  readonly #keptAt: Map<number, number> = new Map();
  /** The last version under which each value was published. */
  readonly #versions: Map<number, number> = new Map();
  /** When each arrived in the store. */
  readonly #publishedAt: Map<number, number> = new Map();
  /** The highest version of each name. */
  readonly #highest: Map<string, number> = new Map();
  /** The last mark, or invalidation log, of each name that each instance has published. */
  readonly #marks: Map<KeysInstance, Map<string, number>> = new Map();
  readonly #setByHand: Set<number> = new Set();
  /** When the checks of an instance failed last, as it says. */
  readonly #failedAt: Map<KeysInstance, number> = new Map();
  /** The last ones of each key, of each tag, and of all keys. */
  readonly #known: Map<string, Known[]> = new Map();
  /** The changes of people that are being published. */
  readonly #underWay: Set<KeyOrder> = new Set();
  #spoiledAt = Number.NEGATIVE_INFINITY;
  /** When each was last invalidated everywhere, or that has ended. */
  readonly #outdatedAt: Map<string, number> = new Map();

  constructor(world: KeysWorld) {
    this.#world = world;
  }

  began({ serial, begunAt }: DataRun<HeldKey>): void {
    this.#begun.set(serial, begunAt);
  }

  /** A load without a lease, while the lock is unavailable, is in no order with what others do: its end counts. */
  returned({ serial, token }: DataRun<HeldKey>): void {
    if (token === undefined) this.#begun.set(serial, this.#world.timeline.now);
  }

  arrived(instance: KeysInstance, { name, payload = '' }: Message, { step, after }: Effect): void {
    if (step !== 'write') return;
    const { token: version } = after;
    if (version <= (this.#highest.get(name) ?? 0)) return;
    this.#highest.set(name, version);
    if (markIn(payload) !== undefined || this.#setByHand.has(serialIn(payload))) this.#replaced(name);
    if (name !== NAME && markIn(payload) === undefined) {
      this.#versions.set(serialIn(payload), version);
      this.#publishedAt.set(serialIn(payload), this.#world.timeline.now);
      return;
    }
    const marks = this.#marks.get(instance) ?? new Map<string, number>();
    this.#marks.set(instance, marks.set(name, version));
  }

  /** A person has changed the key again: that counts from when it is known for sure, and what was there before does no more. */
  #replaced(name: string): void {
    for (const [subject, all] of this.#known) {
      const rest = all.filter(({ order: { of, instance } }) => of !== 'key' || nameOf(instance.key) !== name);
      this.#known.set(subject, rest);
    }
  }

  spoiled(): void {
    this.#known.clear();
    this.#spoiledAt = this.#world.timeline.now;
  }

  ordered(order: KeyOrder): void {
    const { serial, at, mark } = order;
    this.#underWay.add(order);
    if (mark === 'invalidated') this.#outdatedAt.set(subjectOf(order), at);
    if (serial === undefined) return;
    this.#begun.set(serial, at);
    this.#setByHand.add(serial);
  }

  settled(order: KeyOrder): void {
    this.#underWay.delete(order);
    if (order.mark === 'invalidated') this.#outdatedAt.set(subjectOf(order), this.#world.timeline.now);
    const version = this.#versionOf(order);
    if (version === undefined || order.at <= this.#spoiledAt) return;
    const { timeline } = this.#world;
    const begunAt = this.#begunAt(order);
    const known = { order, version, begunAt, resolvedAt: timeline.now, readAt: new Map() };
    const subject = subjectOf(order);
    this.#known.set(subject, [...(this.#known.get(subject) ?? []), known].slice(-WATCHED));
  }

  read(instance: KeysInstance): void {
    const { timeline, scenario } = this.#world;
    for (const all of this.#known.values()) {
      for (const { readAt, resolvedAt } of all) {
        const isDue = timeline.now >= resolvedAt + scenario.propagateWithin + UNDER_WAY_MS;
        if (isDue && !readAt.has(instance)) readAt.set(instance, timeline.now);
      }
    }
  }

  emitted(key: HeldKey, event: TicklessEvent): void {
    const value = key.peek();
    if (value === undefined) return;
    // The source says the same again.
    if (wordOf(event) === 'kept') this.#keptAt.set(value.serial, this.#world.timeline.now);
    if (event.type !== 'load-ended' || event.outcome !== 'adopted') return;
    for (const known of this.#of(key)) {
      const { process } = key;
      const isKnown = this.#mustBeKnown(known, process) || process.bornAt >= known.resolvedAt;
      if (!isKnown || !this.#isWell(process, known) || !this.#concerns(known, value)) continue;
      this.#holds(key, this.#isNewer(value, known, key), known, `adopts version ${event.version}`);
    }
  }

  stepped(key: HeldKey): void {
    const { held, status, process } = key;
    if (status?.checks?.failingSince !== undefined) this.#failedAt.set(process, this.#world.timeline.now);
    if (held === undefined || process.closing !== 'no' || this.#isInNoOrder(key)) return;
    for (const known of this.#of(key)) {
      if (!this.#mustBeKnown(known, process) || !this.#isWell(process, known)) continue;
      if (!this.#concerns(known, held) || this.#isNewer(held, known, key)) continue;
      if (this.#isOutdated(known, key, held)) continue; // the mark is judged itself
      const { mark, at, instance } = known.order;
      // By the age that it has when it arrives: its load may have begun before.
      if (instance.process === process && (this.#publishedAt.get(held.serial) ?? 0) >= at) continue;
      if (mark === undefined && this.#outdated(key) >= known.begunAt) continue; // only a load answers that
      const isDue = mark === 'invalidated' && status?.isStale === true;
      this.#holds(key, isDue, known, `serves ${held.serial}${mark === 'invalidated' ? ' as fresh' : ''}`);
    }
  }

  /** What it has under way is in no order with the versions of others: what checks find counts from its end. */
  #isInNoOrder(key: HeldKey): boolean {
    const isBusy =
      [...this.#underWay].some(
        ({ instance, kind, mark, of }) =>
          (instance === key || (of !== 'key' && instance.process === key.process)) &&
          (kind === 'set' || mark !== undefined),
      ) || [...key.running].some(({ token }) => token === undefined);
    if (isBusy) for (const { readAt } of this.#of(key)) readAt.delete(key.process);
    return isBusy;
  }

  /** When it was last invalidated here, or everywhere; now where that is being published, under whatever version. */
  #outdated(key: HeldKey): number {
    const subjects = subjectsOf(key);
    const isBeing = (order: KeyOrder): boolean =>
      order.mark === 'invalidated' && subjects.includes(subjectOf(order));
    if ([...this.#underWay].some(isBeing)) return this.#world.timeline.now;
    const times = subjects.map((subject) => this.#outdatedAt.get(subject) ?? 0);
    return Math.max(key.invalidatedAt, ...times);
  }

  #begunAt({ serial, at, outcome }: KeyOrder): number {
    const value =
      outcome !== undefined && 'value' in outcome ? (outcome.value as Edition | undefined) : undefined;
    return this.#begun.get(serial ?? value?.serial ?? Number.NaN) ?? at;
  }

  #versionOf({ kind, of, mark, serial, instance, outcome }: KeyOrder): number | undefined {
    if (outcome === undefined || 'error' in outcome) return undefined;
    if (kind === 'set') return this.#versions.get(serial as number);
    if (kind === 'refresh') return this.#versions.get((outcome.value as Edition).serial);
    if (mark === undefined) return undefined;
    return this.#marks.get(instance.process)?.get(of === 'key' ? nameOf(instance.key) : NAME);
  }

  #of(key: HeldKey): Known[] {
    return subjectsOf(key).flatMap((subject) => this.#known.get(subject) ?? []);
  }

  /** A mark with a higher version, also of its tag or of all keys, has replaced that change of a key. */
  #isOutdated({ order, version }: Known, key: HeldKey, held: Edition): boolean {
    const isLater = (one: Known): boolean => one.order.mark !== undefined && one.version > version;
    return order.mark === undefined && this.#of(key).some((one) => isLater(one) && this.#concerns(one, held));
  }

  #concerns({ order }: Known, { serial }: Edition): boolean {
    return order.of !== 'tag' || !this.#setByHand.has(serial);
  }

  #isNewer({ serial }: Edition, { order, version, begunAt: orderBegunAt }: Known, key: HeldKey): boolean {
    const begunAt = Math.max(this.#begun.get(serial) ?? 0, this.#keptAt.get(serial) ?? 0);
    const knownToMs = this.#versions.has(serial) ? 0 : KNOWN_TO_MS;
    const isLater =
      begunAt + knownToMs >= Math.min(order.at, orderBegunAt, this.#replacedAt(version, serial, key));
    const held = this.#versions.get(serial) ?? 0;
    return isLater || (order.mark === undefined ? held >= version : held > version);
  }

  /**
   * When an instance was asked for a change that has replaced that version: for a value that is set here alone, any instance for
   * a change of the key; for a load, and for a value that was set for all, this one for a mark, also of its tag or of all keys.
   */
  #replacedAt(replaced: number, serial: number, key: HeldKey): number {
    const isSetHere = this.#setByHand.has(serial) && !this.#versions.has(serial);
    const replacing = this.#of(key).filter(({ order: { mark, of, instance }, version }) => {
      if (version <= replaced) return false;
      if (!isSetHere) return mark !== undefined && instance.process === key.process;
      return of === 'key' && (mark === undefined || mark === 'dropped');
    });
    return Math.min(...replacing.map(({ order }) => order.at));
  }

  #mustBeKnown({ readAt }: Known, instance: KeysInstance): boolean {
    return this.#world.timeline.now >= (readAt.get(instance) ?? Number.POSITIVE_INFINITY) + COMMANDS_MS;
  }

  /** It could reach the store since then, waits for no answer that was lost before, and does not rest after a failure. */
  #isWell(instance: KeysInstance, { resolvedAt }: Known): boolean {
    const { now } = this.#world.timeline;
    const ms = now - resolvedAt + CLIENT_TIMEOUT_MS;
    if (!this.#world.isWellFor(instance, ms)) return false;
    const hasFailed = now - (this.#failedAt.get(instance) ?? Number.NEGATIVE_INFINITY) <= ms;
    return !hasFailed || this.#world.isWellFor(instance, ms + RESTS_MS);
  }

  #holds({ name }: HeldKey, condition: boolean, { order, version, resolvedAt }: Known, what: string): void {
    this.#world.referee.holds(24, condition, () => {
      const { id, mark, kind, of, instance } = order;
      const ago = (this.#world.timeline.now - resolvedAt).toFixed(0);
      return `${name}: it ${what}, though ${instance.name} has ${mark ?? kind} of ${of} (${id}), version ${version}, ${ago} ms ago`;
    });
  }
}

function subjectsOf({ key, tag }: HeldKey): string[] {
  return [`key ${key}`, `tag ${tag}`, 'all'];
}

/** The orders that a later one takes the place of. */
function subjectOf({ of, instance }: KeyOrder): string {
  if (of === 'all') return of;
  return of === 'tag' ? `tag ${instance.tag}` : `key ${instance.key}`;
}
