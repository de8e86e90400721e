import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { withoutCredentials } from '../../../src/console/redact.ts';
import { FORMS as FURTHER, ORDINARY } from './forms-of-secrets.ts';

/** As ioredis rejects. */
const REPLY = Object.assign(new Error('WRONGPASS invalid username-password pair or user is disabled.'), {
  name: 'ReplyError',
  stack: 'ReplyError: WRONGPASS invalid username-password pair or user is disabled.',
  command: { name: 'auth', args: ['default', 'hunter2'] },
});

/** Forms of drivers, clients and providers; in each the secret has `hunter2` in it. */
const FORMS = [
  "command: { name: 'AUTH',\n  args: [\n    'default',\n    'hunter2'\n  ] }",
  inspect(REPLY),
  inspect(REPLY, { compact: false }),
  JSON.stringify({ ...REPLY }),
  JSON.stringify({ reason: JSON.stringify({ ...REPLY }) }),
  JSON.stringify({ reason: JSON.stringify({ args: ['hunter2'], name: 'auth' }) }),
  'https://x.example/cb?next=postgres%253A%252F%252Fann%253Ahunter2%2540db',
  'postgres%3a%2f%2fann%3ap%40hunter2%40db%2Fshop',
  'Command failed: run -pHUNTER2hunter2',
  "curl --user 'ann:hunter2' https://api.example",
  'glsa_hunter2hunter2',
];

/** Ordinary messages, which stay as they are. */
const PLAIN = [
  'mail ann@example.org bounced at 12:30:00',
  'npm ERR! missing script: build',
  'key=value pairs are missing in row 17',
  'tar -pxzf prices.tar failed',
  'listening at 12:30 @ noon',
  "Cannot find module '@scope/name' from node_modules/@scope/other",
  'the npm_config file, hf_ models and SG. are words',
  'primary key violation in table prices',
  'duplicate primary key: id',
  'mysql -h db -u reader shop',
  'curl https://api.example -u: no user',
  'value 17: next load in 551 ms',
];

it.each([...FORMS, ...FURTHER])('a secret is hidden in %s', (form) => {
  const shown = withoutCredentials(`load failed: ${form}`);
  expect(shown.toLowerCase()).not.toContain('hunter2');
  expect(withoutCredentials(shown)).toBe(shown);
});

it.each([...PLAIN, ...ORDINARY])('an ordinary message stays as it is: %s', (message) => {
  expect(withoutCredentials(message)).toBe(message);
});
