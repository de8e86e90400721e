import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse, parseDocument } from 'yaml';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly 'timeout-minutes'?: number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: { readonly node: readonly string[] } };
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const root = join(import.meta.dirname, '../../..');
const folder = join(root, '.github/workflows');
const files = readdirSync(folder);
const texts = files.map((file) => [file, readFileSync(join(folder, file), 'utf8')] as const);
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

it.each(texts)('%s is YAML without a warning', (_, text) => {
  const { errors, warnings } = parseDocument(text, { strict: true, uniqueKeys: true });
  expect([...errors, ...warnings]).toEqual([]);
});

it.each(texts)('%s pins each action by the hash of its commit, with the version beside it', (_, text) => {
  const uses = text.split('\n').filter((line) => /^\s*(?:- )?uses:/.test(line));
  expect(uses.length).toBeGreaterThan(0);
  for (const line of uses) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

it.each(texts)('%s may read only, keeps no credentials, and has an end', (file, text) => {
  const { permissions, jobs } = parse(text) as Workflow;
  expect(permissions).toEqual({ contents: 'read' });
  for (const job of Object.values(jobs)) {
    const signs = { contents: 'read', 'id-token': 'write' };
    expect(job.permissions).toEqual(file === 'release.yml' ? signs : undefined);
    expect(job['timeout-minutes']).toBeGreaterThan(0);
    for (const { uses, with: given } of job.steps) {
      if (uses?.startsWith('actions/checkout@')) expect(given?.['persist-credentials']).toBe(false);
    }
  }
});

it.each(texts)('%s runs scripts that there are, and no text of an event in a shell', (_, text) => {
  const { jobs } = parse(text) as Workflow;
  const runs = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
  for (const run of runs) {
    expect(run).not.toContain('${{');
    const script = /^npm run (\S+)/.exec(run)?.[1];
    if (script !== undefined) expect(Object.keys(scripts)).toContain(script);
  }
});

it('every supported version of Node is tested', () => {
  const text = texts.find(([file]) => file === 'test.yml')?.[1] ?? '';
  const { jobs } = parse(text) as Workflow;
  expect(jobs.test?.strategy?.matrix.node).toEqual(['20', '22', '24', '26']);
});

it('a release has a provenance, each night has seeds of its own, and a policy says where to write to', () => {
  const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
  expect(read('scripts/release.mjs')).toContain('--provenance');
  const nightly = texts.find(([file]) => file === 'nightly.yml')?.[1] ?? '';
  expect(nightly).toMatch(/npm run simulate -- --seeds \d{4}$/m);
  expect(read('SECURITY.md')).toMatch(/^## .*report/im);
});
