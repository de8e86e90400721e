import { fromBase64, toBase64 } from '../../cluster/base64.ts';
import type { ClockSpan } from '../../records/cells/known-clock.ts';
import { systemClock } from '../../time/clock.ts';
import { type EventLoopYield, yieldsFor } from '../../time/yield-to-event-loop.ts';
import type { FoundText, SwappableTexts, Swapped, TextKey } from '../cas/texts.ts';
import { type EtcdClient, EtcdError } from './etcd-client.ts';
import { EtcdLeases } from './etcd-leases.ts';

/** The server allows 128 in a transaction. */
const MOST_READS = 100;

/** A command may have 1.5 MB. */
const LONGEST_TEXT = 1_000_000;

interface KeyValue {
  readonly key: string;
  /** Left out if it is empty. */
  readonly value?: string;
}

/** Lists that are empty, and `false`, are left out. */
interface RangeAnswer {
  readonly kvs?: readonly KeyValue[];
}

interface TxnAnswer {
  readonly succeeded?: boolean;
  readonly responses?: readonly { readonly response_range?: RangeAnswer }[];
}

/** Texts at etcd: the value of a key each. */
export class EtcdTexts implements SwappableTexts {
  readonly mostEdits: number = 1;
  readonly longestText: number = LONGEST_TEXT;
  readonly timeoutMs: number;
  readonly #client: EtcdClient;
  readonly #leases: EtcdLeases;
  readonly #prefix: string;

  constructor(client: EtcdClient, prefix: string) {
    this.timeoutMs = client.timeoutMs;
    this.#client = client;
    this.#leases = new EtcdLeases(client);
    this.#prefix = prefix;
  }

  span(): ClockSpan {
    return this.#client.clock.span();
  }

  async read(keys: readonly TextKey[]): Promise<(string | undefined)[]> {
    const texts: (string | undefined)[] = [];
    for (let i = 0; i < keys.length; i += MOST_READS) {
      const some = await Promise.all(keys.slice(i, i + MOST_READS).map((key) => this.#encoded(key)));
      const success = some.map((key) => ({ request_range: { key } }));
      const { responses = [] } = await this.#client.send<TxnAnswer>('kv/txn', { success });
      for (const index of some.keys()) texts.push(await firstOf(responses[index]?.response_range));
    }
    return texts;
  }

  async swap(
    textKey: TextKey,
    before: string | undefined,
    after: string | undefined,
    keepForMs: number,
  ): Promise<Swapped> {
    const key = await this.#encoded(textKey);
    const value = after === undefined ? undefined : await encode(after);
    const isAsBefore =
      before === undefined
        ? { key, target: 'CREATE', create_revision: '0' }
        : { key, target: 'VALUE', value: bytesIn(before) ?? (await encode(before)) };
    const swapTo = (change: object): Promise<TxnAnswer> =>
      this.#client.send('kv/txn', {
        compare: [{ ...isAsBefore, result: 'EQUAL' }],
        success: [change],
        failure: [{ request_range: { key } }],
      });
    const { succeeded, responses } = await (value === undefined
      ? swapTo({ request_delete_range: { key } })
      : this.#withLease(keepForMs, (lease) => swapTo({ request_put: { key, value, lease } })));
    if (succeeded === true) return { isDone: true };
    const present = await firstOf(responses?.[0]?.response_range);
    const isRepeated = present !== undefined && present === after;
    return isRepeated ? { isDone: true } : { isDone: false, present };
  }

  async put(textKey: TextKey, text: string, keepForMs: number): Promise<void> {
    const [key, value] = await Promise.all([this.#encoded(textKey), encode(text)]);
    await this.#withLease(keepForMs, (lease) => this.#client.send('kv/put', { key, value, lease }));
  }

  async #withLease<R>(keepForMs: number, send: (lease: string) => Promise<R>): Promise<R> {
    try {
      return await send(await this.#leases.for(keepForMs));
    } catch (error) {
      if (!(error instanceof EtcdError && error.isOfLease)) throw error;
      this.#leases.forget();
      return send(await this.#leases.for(keepForMs));
    }
  }

  async take(textKey: TextKey): Promise<string | undefined> {
    const command = { key: await this.#encoded(textKey), prev_kv: true };
    const { prev_kvs: kvs } = await this.#client.send<{ prev_kvs?: readonly KeyValue[] }>(
      'kv/deleterange',
      command,
    );
    return firstOf({ kvs: kvs ?? [] });
  }

  async ofPartitions(prefix: string, sort: string): Promise<FoundText[]> {
    const found = await this.#range(prefix);
    return found.filter(({ key }) => key.sort === sort);
  }

  ofPartition(partition: string, prefix: string): Promise<FoundText[]> {
    return this.#range(partition + SEPARATOR + prefix);
  }

  /** All of them: some may be over, as a lease is longer than its step. */
  async #range(prefix: string): Promise<FoundText[]> {
    const first = new TextEncoder().encode(this.#prefix + prefix);
    const end = first.slice();
    end[end.length - 1] = (end.at(-1) as number) + 1; // the last byte of UTF-8 is never 0xff
    const [key, rangeEnd] = await Promise.all([toBase64(first, yields()), toBase64(end, yields())]);
    const { kvs = [] } = await this.#client.send<RangeAnswer>('kv/range', { key, range_end: rangeEnd });
    const found: FoundText[] = [];
    for (const { key: name, value = '' } of kvs) {
      const [partition = '', sort = ''] = (await decode(name)).slice(this.#prefix.length).split(SEPARATOR);
      found.push({ key: { partition, sort }, text: await decode(value) });
    }
    return found;
  }

  #encoded({ partition, sort }: TextKey): Promise<string> {
    return encode(this.#prefix + partition + SEPARATOR + sort);
  }
}

const SEPARATOR = '\0';

/** After this many milliseconds of work in slices there are fewer turns of the event loop. */
const WORK_MS = 1000;

function yields(): EventLoopYield {
  return yieldsFor(systemClock, WORK_MS);
}

function encode(text: string): Promise<string> {
  return toBase64(new TextEncoder().encode(text), yields());
}

/** The beginning in place of bytes that were edited by hand and can't be decoded: damage, which is replaced while it is there. */
const NO_TEXT = 'no text, but in Base64: ';

async function decode(base64: string): Promise<string> {
  const bytes = await fromBase64(base64, yields());
  try {
    return new TextDecoder('utf-8', { ignoreBOM: true, fatal: true }).decode(bytes);
  } catch {
    return NO_TEXT + base64;
  }
}

function bytesIn(text: string): string | undefined {
  return text.startsWith(NO_TEXT) ? text.slice(NO_TEXT.length) : undefined;
}

async function firstOf({ kvs = [] }: RangeAnswer = {}): Promise<string | undefined> {
  const [first] = kvs;
  return first === undefined ? undefined : decode(first.value ?? '');
}
