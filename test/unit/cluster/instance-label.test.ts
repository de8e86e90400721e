import { expect, it } from 'vitest';
import { instanceLabels } from '../../../src/data/instance-label.ts';

const labels = (...names: [host: string, id: string][]) => [
  ...instanceLabels(names.map(([host, id]) => ({ host, id }))).values(),
];

it('names instances by the host, as far as that distinguishes them', () => {
  expect(labels(['pod-1', '7-a-b'], ['pod-2', '7-c-d'])).toEqual(['pod-1', 'pod-2']);
  expect(labels(['vm', '7-a-b'], ['vm', '8-c-d'], ['pod-2', '7-e'])).toEqual(['vm (7)', 'vm (8)', 'pod-2']);
  expect(labels(['vm', '7-a-b'], ['vm', '7-a-b/2'])).toEqual(['vm (7)', 'vm (7/2)']);
  expect(labels(['vm', 'worker-a'], ['vm', 'worker-b'])).toEqual(['vm (worker-a)', 'vm (worker-b)']);
});
