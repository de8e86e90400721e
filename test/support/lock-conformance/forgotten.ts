import { ensure } from '../../../src/testing/assert.ts';
import { sleep } from '../../../src/testing/conformance.ts';
import { type BackendCase, subjectOf } from './backend-case.ts';

/** A backend that has lost its data. */
export const FORGOTTEN: readonly BackendCase[] = [
  {
    name: 'token: grows also after the backend has lost its data',
    needs: 'forget',
    async run(context) {
      const { token } = await context.lease();
      await sleep(context.unit / 10); // the clock of a backend may count milliseconds
      await subjectOf(context).forget?.(context.name);
      const next = await context.lease({}, context.other);
      ensure(next.token > token, `the token must be greater: ${token} before, ${next.token} now`);
    },
  },
];
