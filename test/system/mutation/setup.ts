import { beforeEach } from 'vitest';
import { leftOut } from './parts.mjs';

beforeEach(({ task, skip }) => {
  const names = [task.name];
  for (let { suite } = task; suite !== undefined; suite = suite.suite) names.unshift(suite.name);
  if (leftOut.some((pattern) => pattern.test(names.join(' > ')))) skip();
});
