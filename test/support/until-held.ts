import { expect, vi } from 'vitest';
import type { Fleet } from '../../src/index.ts';

/** Reads the values of that name, each of another instance, until the store has reports that they all hold the newest version. */
export function untilHeld(
  store: { fleet(): Promise<Fleet> },
  name: string,
  values: readonly { readonly current: unknown }[],
): Promise<void> {
  return vi.waitFor(
    async () => {
      for (const value of values) void value.current;
      const { members } = await store.fleet();
      const held = members.find((member) => member.name === name);
      expect(held).toMatchObject({ of: values.length, holding: values.length });
    },
    { timeout: 10_000, interval: 10 },
  );
}
