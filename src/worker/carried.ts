import {
  type Absent,
  absent,
  answerKind,
  type KeepOptions,
  type Kept,
  keep,
  type Loaded,
  loaded,
} from '../engine/load-result.ts';
import { toMillis } from '../time/duration.ts';
import { flattened, revived, type Thrown } from './thrown.ts';

/** What `keep`, `loaded` and `absent` say beside a value, and an `Error` for a key, in a form that can be cloned. */
type Word =
  | { readonly kind: 'kept' | 'loaded'; readonly options: KeepOptions }
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly thrown: Thrown };

/** What a load answered, in a form that can be cloned: the marks of its answers are symbols, which are not. */
export interface Carried {
  /** The value; of a `Map` of answers, as a `loadMany` gives, their values. */
  readonly value: unknown;
  /** What was said of the value. */
  readonly word: Word | undefined;
  /** What was said of entries of the `Map`, by their places. */
  readonly words: readonly (readonly [place: number, word: Word])[];
}

interface Spoken {
  readonly value: unknown;
  readonly word: Word | undefined;
}

/** Takes an answer apart, in the thread. */
export function carried(answer: unknown): Carried {
  const { value, word } = spoken(answer);
  const words = value instanceof Map ? wordsOf(value) : [];
  if (words.length === 0) return { value, word, words };
  const values = new Map(
    [...(value as Map<unknown, unknown>)].map(([key, one]) => [key, spokenOfKey(one).value]),
  );
  return { value: values, word, words };
}

function wordsOf(answers: ReadonlyMap<unknown, unknown>): [number, Word][] {
  const words: [number, Word][] = [];
  let place = 0;
  for (const answer of answers.values()) {
    const { word } = spokenOfKey(answer);
    if (word !== undefined) words.push([place, word]);
    place += 1;
  }
  return words;
}

/** Puts an answer together, in the thread that asked. */
export function delivered({ value, word, words }: Carried): unknown {
  if (words.length > 0) {
    const answers = value as Map<unknown, unknown>;
    const keys = [...answers.keys()];
    for (const [place, inner] of words) answers.set(keys[place], answerOf(inner, answers.get(keys[place])));
  }
  return word === undefined ? value : answerOf(word, value);
}

/** In the `Map` of a `loadMany` an error stands for a key that failed. */
function spokenOfKey(answer: unknown): Spoken {
  if (!(answer instanceof Error)) return spoken(answer);
  return { value: undefined, word: { kind: 'failed', thrown: flattened(answer) } };
}

function spoken(answer: unknown): Spoken {
  if (typeof answer !== 'object' || answer === null || !(answerKind in answer)) {
    return { value: answer, word: undefined };
  }
  const marked = answer as Kept | Loaded<unknown> | Absent;
  switch (marked[answerKind]) {
    case 'kept':
      return { value: undefined, word: { kind: 'kept', options: plain(marked.options) } };
    case 'loaded':
      return { value: marked.loadedValue, word: { kind: 'loaded', options: plain(marked.loadedOptions) } };
    case 'absent':
      return { value: undefined, word: { kind: 'absent' } };
  }
}

function answerOf(word: Word, value: unknown): unknown {
  switch (word.kind) {
    case 'kept':
      return keep(word.options);
    case 'loaded':
      return loaded(value, word.options);
    case 'absent':
      return absent();
    case 'failed':
      return revived(word.thrown);
  }
}

/** The options without what has methods: luxon's durations, `Headers`. */
function plain({ nextExecuteTime, maxStaleness, headers, tags }: KeepOptions): KeepOptions {
  return {
    nextExecuteTime,
    maxStaleness: maxStaleness === undefined ? undefined : toMillis(maxStaleness),
    headers: isIterable(headers) ? Object.fromEntries(headers) : headers,
    tags: Array.isArray(tags) ? [...tags] : tags, // of its own: many values may have been given the same array
  };
}

function isIterable(headers: unknown): headers is Iterable<readonly [string, string]> {
  return typeof headers === 'object' && headers !== null && Symbol.iterator in headers;
}
