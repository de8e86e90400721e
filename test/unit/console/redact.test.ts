import { describe, expect, it } from 'vitest';
import { asItIs, shownJson, shownText, withoutCredentials } from '../../../src/console/redact.ts';

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
  String.raw`body {\"user\":\"reader\",\"password\":\"hunter2\"}`,
  String.raw`{"password": "a\"hunter2"}`,
  'Cookie: a=1; sid=hunter2',
  'Authorization: ApiKey hunter2',
  'password: digest a!hunter2',
  'sent Bearer ab:hunter2',
  '<password>hunter2</password>',
  '<db:password kind="plain">hunter2</db:password>',
  "'password' => 'hunter2'",
  'Ocp-Apim-Subscription-Key: hunter2',
  "authorization: [ 'Bearer', 'hunter2' ]",
  "headers: { authorization: [\n  'Bearer',\n  'hunter2'\n] }",
  'ERR unknown command AUTH default hunter2',
  'redirect_uri=x%26client_secret%3Dhunter2',
  'connect redis://:hunter2',
  'connect redis://default:a/hunter2',
  'connect redis://:hunter2…',
  'connect https://hunter2hunter2…',
  'redis://reader:p@ss/hunter2@db.example',
  'https://api.example/?next=redis://:hunter2@queue',
  'Server=db;Password=my hunter2;Encrypt=yes',
  "ALTER USER reader PASSWORD 'hunter2'",
  'mysql --user reader --password hunter2 shop',
  'PHPSESSID=hunter2',
  'id eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodW50ZXIyIn0.hunter2',
];

describe('credentials', () => {
  for (const message of MESSAGES) {
    it(`are hidden in ${message.split('\n')[0]}`, () => {
      const shown = withoutCredentials(message);
      expect(shown).not.toMatch(/hunter2|cmVhZGVyOmh1bnRlcjI/);
      expect(shown).toContain('[hidden]');
      expect(withoutCredentials(shown)).toBe(shown);
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
      'http://10.0.0.1:8080/a/b: 503, redis://[::1]:6379: ECONNREFUSED, mongodb://a:27017,b:27018/shop',
      `Unexpected token '<', "<!DOCTYPE "... is not valid JSON`,
      'password authentication failed for user "reader"',
      'ERR AUTH <password> called without any password configured for the default user',
      'design: blue, bypass: 2, tests passed: 3',
      'at Object.load (file:///app/src/prices.ts:12:3)',
    ];
    expect(plain.map(withoutCredentials)).toEqual(plain);
  });

  it('of a query leave what follows it', () => {
    expect(withoutCredentials('https://api.example/list?api_key=hunter2&page=1: 500 in 3 s')).toBe(
      'https://api.example/list?api_key=[hidden]&page=1: 500 in 3 s',
    );
  });

  it('are hidden before a text is cut, at whatever place', () => {
    const before = 'words of a driver '.repeat(20);
    for (let longest = before.length; longest < before.length + 60; longest++) {
      const shown = shownText(
        `${before}postgres://reader:hunter2hunter2@db.example/shop failed`,
        longest,
        asItIs,
      );
      expect(shown.length).toBeLessThanOrEqual(longest);
      expect(shown).not.toContain('hunt');
    }
    const many = 'password=hunter2hunter2hunter2 '.repeat(400); // much shorter once it is hidden
    for (let length = 4000; length < 4200; length++) {
      expect(shownText(many, length, asItIs)).not.toContain('hunt');
    }
  });

  it('are hidden wherever a text is, also as a name of a field that is shown as a text', () => {
    expect(shownJson({ a: [{ b: 'password=hunter2' }], n: 1n, d: Infinity }, asItIs)).toBe(
      '{"a":[{"b":"password=[hidden]"}],"n":"1","d":null}',
    );
  });

  it('are looked for in time that grows with the text, whatever that is', () => {
    const parts = [
      'a://',
      'password=',
      '"',
      '://a:',
      'token-',
      '-----BEGIN PRIVATE KEY-----',
      'a',
      'bearer ',
      'http://a:',
      'http://',
      'a@b://',
      '<password ',
      'password\\"',
      `password='a `,
      'pwd=a ',
      '&pwd',
      '--',
      '[hidden]',
      'AUTH',
      'a:b@',
      'a:bcd',
      ' -u a:',
      ' -p',
      'mysql ',
      'mysql -h ',
      'auth args: [',
      'args: [',
      '%3a%2f%2f',
      '%3a%2f%2fa%40',
      '%40',
      'SG.',
      'glpat-',
      'dp.pt.',
    ];
    /** Processor time, which a busy machine lengthens less than the time on the clock. */
    const timeFor = (length: number): number => {
      const before = process.cpuUsage();
      for (const part of parts) withoutCredentials(part.repeat(Math.ceil(length / part.length)));
      return process.cpuUsage(before).user;
    };
    timeFor(4000);
    const ratio = timeFor(64_000) / timeFor(4000);
    expect(ratio).toBeLessThan(100); // for 16 times the text; one that backtracks takes 256 times as long, or hours
  });
});
