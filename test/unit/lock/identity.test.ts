import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { hostOf, ownerOf, thisHost, thisProcess } from '../../../src/cluster/identity.ts';

const UUID = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';

describe('the host', () => {
  it('is that of the machine, each time', () => {
    expect([thisHost(), thisHost()]).toEqual([hostname(), hostname()]);
  });

  const os = { hostname: () => 'asked' };
  it.each<[string, Parameters<typeof hostOf>[0], string]>([
    [
      'that the runtime names',
      { getBuiltinModule: (id) => (id === 'node:os' ? os : undefined), env: { HOSTNAME: 'told' } },
      'asked',
    ],
    ['that the environment names', { env: { HOSTNAME: 'told', COMPUTERNAME: 'too' } }, 'told'],
    ['that Windows names', { env: { COMPUTERNAME: 'told' } }, 'told'],
    [
      'of a runtime without the module',
      { getBuiltinModule: () => undefined, env: { HOSTNAME: 'told' } },
      'told',
    ],
    ['of a module that does not tell', { getBuiltinModule: () => ({}), env: { HOSTNAME: 'told' } }, 'told'],
    ['of an environment without it', { env: {} }, 'unknown'],
    ['of a runtime without an environment', {}, 'unknown'],
    ['of a runtime without a process', undefined, 'unknown'],
    [
      'of a runtime that does not allow to ask',
      {
        getBuiltinModule: () => {
          throw new Error('not allowed');
        },
      },
      'unknown',
    ],
  ])('%s', (_, runtime, expected) => {
    expect(hostOf(runtime)).toBe(expected);
  });
});

describe('the owner', () => {
  it('is one for each process', () => {
    expect(thisProcess()).toMatch(new RegExp(`^${process.pid}-${UUID}$`));
    expect(thisProcess()).toBe(thisProcess());
  });

  it('is another with each start, also where there are no processes', () => {
    const first = ownerOf({ pid: 5 });
    expect(first).toMatch(new RegExp(`^5-${UUID}$`));
    expect(ownerOf({ pid: 5 })).not.toBe(first);
    expect(ownerOf({})).toMatch(new RegExp(`^worker-${UUID}$`));
    expect(ownerOf(undefined)).toMatch(new RegExp(`^worker-${UUID}$`));
  });
});
