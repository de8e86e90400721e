import type { ValueStatus } from '../../../../src/index.ts';
import type { Edition } from '../data/edition.ts';
import type { DataRun, Holder } from '../data/watch.ts';
import type { Machine } from '../machine.ts';
import type { KeysInstance } from './instance.ts';
import { TAGS } from './scenario.ts';

/** A key of the cache of one instance. */
export class HeldKey implements Holder {
  readonly key: string;
  readonly tag: string;
  readonly process: KeysInstance;
  readonly running: Set<DataRun<HeldKey>> = new Set();
  readonly own: Set<number> = new Set();
  held: Edition | undefined;
  status: ValueStatus<Edition> | undefined;
  /** It was last invalidated here only. */
  invalidatedAt: number = Number.NEGATIVE_INFINITY;

  constructor(key: string, process: KeysInstance) {
    this.key = key;
    this.tag = TAGS[key] as string;
    this.process = process;
  }

  get name(): string {
    return `${this.process.name}[${this.key}]`;
  }

  get machine(): Machine {
    return this.process.machine;
  }

  peek(): Edition | undefined {
    return this.process.cache.peek(this.key);
  }
}
