import { expect, it } from 'vitest';
import { isDevelopment } from '../../../src/options/development.ts';

it.each([
  ['a runtime without a process', {}, false],
  ['one without an environment', { process: {} }, false],
  ['Deno', { Deno: {}, process: { env: {} } }, false],
  ['the test runner of Node', { process: { env: { NODE_TEST_CONTEXT: 'child-v8' } } }, false],
  ['production', { process: { env: { NODE_ENV: 'production' } } }, false],
  ['a test', { process: { env: { NODE_ENV: 'test' } } }, false],
  ['an environment without a mode', { process: { env: {} } }, true],
])('knows development: %s', (_, runtime, expected) => {
  expect(isDevelopment(runtime)).toBe(expected);
});
