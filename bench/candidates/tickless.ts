// The package refers to itself by name only from within its own scope, and bench/ has a package.json of its own.
import { RefreshingValue } from '../../dist/index.js';
import type { Candidate } from './candidate.ts';

export const tickless: Candidate = {
  name: 'tickless',
  open(load, periodMs) {
    const value = new RefreshingValue({ name: 'bench', load, schedule: periodMs, logger: false });
    return { read: () => value.get(), readNow: () => value.current };
  },
};
