import { expect, it } from 'vitest';

import { type HttpSourceOptions, httpSource } from '../../../src/sources/index.ts';

const refusal = (target: unknown, options?: unknown): string => {
  try {
    httpSource(target as string, options as HttpSourceOptions<unknown>);
    return 'none';
  } catch (error) {
    expect(error).toMatchObject({ code: 'OPTION' });
    return (error as Error).message;
  }
};
const URL_HERE = 'https://prices.example/all';

it.each<[target: unknown, shown: string]>([
  ['/all.json', '/all.json'],
  ['prices.example/all?key=SECRET', 'prices.example/all?…'],
  ['user:SECRET@prices.example/all', 'user:'],
  ['//user:SECRET@prices.example/all', '…@…'],
  ['https://user:SECRET#@prices.example/all', '…@…'],
  ['https://user:SECRET?@prices.example/all', '…@…'],
  ['https://user:SECRET/@prices.example/all', '…@…'],
  ['ftp://user:SECRET@prices.example/all?key=SECRET', 'ftp://prices.example/all?key=…'],
  ['data:text/plain,SECRET', 'data:'],
  ['file:///etc/prices.json', 'file:'],
  [undefined, 'undefined'],
  [new Request('https://prices.example/?key=SECRET'), '(object, not shown)'],
  [{ url: 'https://user:SECRET@prices.example/all' }, '(object, not shown)'],
])('%s is no URL to ask', (target, shown) => {
  const message = refusal(target);
  expect(message).toContain('url must be an absolute URL of http: or https:, or a function');
  expect(message).toContain(shown);
  expect(message).not.toContain('SECRET');
});

it.each<[options: unknown, rule: string]>([
  [null, 'options must be an object'],
  [{ maxBytes: 0 }, 'maxBytes must be a whole number of 1 or more, or Infinity'],
  [{ maxBytes: '1MB' }, 'maxBytes must be a whole number of 1 or more, or Infinity'],
  [{ parse: 'yaml' }, "parse must be 'json', 'ndjson', 'csv', 'text' or a function"],
  [{ statuses: 200 }, 'statuses must be an array of statuses from 200, without 304'],
  [{ statuses: [] }, 'statuses must be'],
  [{ statuses: [200, 304] }, 'statuses must be'],
  [{ statuses: [199] }, 'statuses must be'],
  [{ fetch: 'undici' }, 'fetch must be a function'],
  [{ source: '' }, 'source must be a string that is not empty'],
  [{ source: 'x'.repeat(501) }, 'source must have at most 500 characters'],
  [{ source: 5 }, 'source must be a string that is not empty'],
  [{ headers: null }, 'headers must be headers that can be sent'],
  [{ maxBytez: 5 }, 'maxBytez is unknown (did you mean maxBytes?), received "(number, not shown)"'],
])('%o is refused', (options, rule) => expect(refusal(URL_HERE, options)).toContain(rule));

it('a header that cannot be sent is named, and not shown', () => {
  const message = refusal(URL_HERE, { headers: { authorization: 'Bearer SECRET\n'.repeat(2) } });
  expect(message).toContain('headers must be headers that can be sent');
  expect(message).toContain('authorization');
  expect(message).not.toContain('SECRET');
});

it('the value of an option that is unknown is not shown: it may be a credential', () => {
  const message = refusal(URL_HERE, { header: { authorization: 'Bearer SECRET' } });
  expect(message).toContain('header is unknown (did you mean headers?)');
  expect(message).not.toContain('SECRET');
});

it('all that may be given can be', () => {
  expect(
    refusal(new URL(URL_HERE), { maxBytes: Number.POSITIVE_INFINITY, parse: 'csv', statuses: [200, 404] }),
  ).toBe('none');
  expect(refusal(() => URL_HERE, { source: 'prices', parse: undefined, headers: undefined })).toBe('none');
});
