import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { hostOf, ownerOf, thisHost, thisProcess } from '../../../src/cluster/identity.ts';

const UUID = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';

describe('the host', () => {
  it('is that of the machine', () => {
    expect([thisHost(), thisHost()]).toEqual([hostname(), hostname()]);
  });

  const os = { hostname: () => 'os' };
  it.each<[string, Parameters<typeof hostOf>[0], string]>([
    [
      'from the runtime',
      { getBuiltinModule: (id) => (id === 'node:os' ? os : undefined), env: { HOSTNAME: 'env' } },
      'os',
    ],
    ['from the environment', { env: { HOSTNAME: 'env', COMPUTERNAME: 'too' } }, 'env'],
    ['from the environment of Windows', { env: { COMPUTERNAME: 'env' } }, 'env'],
    [
      'of a runtime without the module',
      { getBuiltinModule: () => undefined, env: { HOSTNAME: 'env' } },
      'env',
    ],
    ['of a module without it', { getBuiltinModule: () => ({}), env: { HOSTNAME: 'env' } }, 'env'],
    ['of an environment without it', { env: {} }, 'unknown'],
    ['of a runtime without an environment', {}, 'unknown'],
    ['of a runtime without a process', undefined, 'unknown'],
    [
      'of a runtime that denies access',
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
  it('is the same within a process', () => {
    expect(thisProcess()).toMatch(new RegExp(`^${process.pid}-${UUID}$`));
    expect(thisProcess()).toBe(thisProcess());
  });

  it('differs per start, also without processes', () => {
    const first = ownerOf({ pid: 5 });
    expect(first).toMatch(new RegExp(`^5-${UUID}$`));
    expect(ownerOf({ pid: 5 })).not.toBe(first);
    expect(ownerOf({})).toMatch(new RegExp(`^worker-${UUID}$`));
    expect(ownerOf(undefined)).toMatch(new RegExp(`^worker-${UUID}$`));
  });
});
