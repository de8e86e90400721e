import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SHAPES = [
  'an array of objects',
  'a Map by code',
  'an object by code',
  'columns: typed arrays, one text',
  'two indexes of the same objects',
];

/** A stall of the event loop, in milliseconds. */
interface Stall {
  readonly elapsed: number;
  /** The processor time of its thread in it; `NaN` where unknown. */
  readonly worked: number;
}

/** The longest stall while a value is reloaded: the median of some reloads. */
export interface ReloadStall {
  readonly shape: string;
  readonly here: Stall;
  readonly thread: Stall;
  /** Loaded in a thread, and published to a file store. */
  readonly publish: Stall;
  /** Adopted from that store. */
  readonly adopt: Stall;
}

/** Reloads JSON of that size in processes of their own: on their main thread, by `loadInWorker`, and through a store. */
export function measureReloadStalls(bytes: number): ReloadStall[] {
  const directory = mkdtempSync(join(tmpdir(), 'tickless-bench-'));
  const file = join(directory, 'reference.json');
  try {
    writeReference(file, bytes);
    return SHAPES.map((shape) => ({
      shape,
      here: stallOf('here', file, shape, directory),
      thread: stallOf('thread', file, shape, directory),
      publish: stallOf('publish', file, shape, directory),
      adopt: stallOf('adopt', file, shape, directory),
    }));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

type Place = keyof Omit<ReloadStall, 'shape'>;

function stallOf(place: Place, file: string, shape: string, directory: string): Stall {
  const script = fileURLToPath(new URL('reload-stall/main.ts', import.meta.url));
  const args = ['--import', import.meta.resolve('tsx'), script, place, join(directory, 'store')];
  const output = execFileSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, FILE: file, SHAPE: shape },
  });
  const stalls = JSON.parse(output) as Stall[];
  return {
    elapsed: median(stalls.map(({ elapsed }) => elapsed)),
    worked: median(stalls.map(({ worked }) => worked)),
  };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

function writeReference(file: string, bytes: number): void {
  const out = openSync(file, 'w');
  let written = writeSync(out, '[');
  for (let i = 0; written < bytes; i++) {
    const row = { id: i, code: `${1000 + (i % 9000)} ${i}`, city: `City of ${i % 5000}`, province: i % 12 };
    const place = {
      lat: 52 + (i % 1000) / 1000,
      lon: 4 + (i % 777) / 777,
      tags: [`a${i % 10}`, `b${i % 7}`],
    };
    written += writeSync(
      out,
      `${i > 0 ? ',' : ''}${JSON.stringify({ ...row, ...place, isActive: i % 3 === 0 })}`,
    );
  }
  writeSync(out, ']');
  closeSync(out);
}
