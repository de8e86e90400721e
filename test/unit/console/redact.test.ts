import { describe, expect, it } from 'vitest';
import { shownJson, withoutCredentials } from '../../../src/console/redact.ts';

/** Messages as drivers and clients write them; each has the secret `hunter2`, in one form or another. */
const MESSAGES = [
  'connect ECONNREFUSED redis://default:hunter2@10.0.0.1:6379/0',
  'postgres://reader:hunter2/with@signs@db.example:5432/shop: no route',
  'amqp://:hunter2@queue',
  'GET https://hunter2hunter2hunter2@api.example/list failed',
  'https://api.example/list?api_key=hunter2&page=1: 500',
  'https://api.example/list?access_token=hunter2',
  'https://account.blob.example/x?sv=1&sig=hunter2%3D',
  'DB_PASSWORD=hunter2 is wrong',
  'password: hunter2',
  "password: 'hunter2 and more'",
  '{"user":"reader","password":"hunter2, or not"}',
  '{"clientSecret": "hunter2"}',
  'Server=db;User Id=sa;Password=hunter2;Encrypt=yes',
  'x-api-key: hunter2',
  'Authorization: Bearer hunter2hunter2',
  'authorization: basic cmVhZGVyOmh1bnRlcjI=',
  'sent Bearer hunter2.hunter2-hunter2',
  'Cookie: session=hunter2',
  'private_key=hunter2',
  '-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----',
  'id eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodW50ZXIyIn0.hunter2',
];

describe('credentials', () => {
  for (const message of MESSAGES) {
    it(`are hidden in ${message.split('\n')[0]}`, () => {
      const shown = withoutCredentials(message);
      expect(shown).not.toMatch(/hunter2|cmVhZGVyOmh1bnRlcjI/);
      expect(shown).toContain('[hidden]');
    });
  }

  it('leave the rest of a message as it is', () => {
    expect(withoutCredentials('redis://:hunter2@10.0.0.1:6379: ECONNREFUSED after 3 tries')).toBe(
      'redis://[hidden]@10.0.0.1:6379: ECONNREFUSED after 3 tries',
    );
    const plain = [
      'prices: load failed: connect ETIMEDOUT 10.0.0.1:5432',
      'store version 17 is ahead of lock token 12',
      'see https://example.org/a:b/c?page=1 and mail@example.org',
      'at Object.load (file:///app/src/prices.ts:12:3)',
    ];
    expect(plain.map(withoutCredentials)).toEqual(plain);
  });

  it('are hidden wherever a text is, also as a name of a field that is shown as a text', () => {
    expect(shownJson({ a: [{ b: 'password=hunter2' }], n: 1n, d: Infinity })).toBe(
      '{"a":[{"b":"password=[hidden]"}],"n":"1","d":null}',
    );
  });

  it('are looked for in bounded time, whatever the text is', () => {
    const begun = performance.now();
    for (const part of [
      'a://',
      'password=',
      '"',
      '://a:',
      'token-',
      '-----BEGIN PRIVATE KEY-----',
      'a',
      'bearer ',
    ]) {
      withoutCredentials(part.repeat(100_000));
    }
    expect(performance.now() - begun).toBeLessThan(5000); // one that backtracks takes hours
  });
});
