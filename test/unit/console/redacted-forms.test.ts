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
  "{ name: 'auth', args: ['default', 'hunter2'] }",
  "ReplyError: WRONGPASS invalid command: { name: 'auth', args: [ 'hunter2' ] }",
  "command: { name: 'AUTH',\n  args: [\n    'default',\n    'hunter2'\n  ] }",
  '{"command":{"name":"auth","args":["default","hunter2"]}}',
  "{ args: ['default', 'hunter2'], name: 'auth' }",
  inspect(REPLY),
  inspect(REPLY, { compact: false }),
  JSON.stringify({ ...REPLY }),
  JSON.stringify({ reason: JSON.stringify({ ...REPLY }) }),
  JSON.stringify({ reason: JSON.stringify({ args: ['hunter2'], name: 'auth' }) }),
  'github_pat_11ABCDEFG0hunter2hunter2hunter2',
  'glpat-hunter2hunter2abcd',
  'npm_hunter2hunter2hunter2hunter2',
  'hf_hunter2hunter2hunter2hunter2',
  'SG.hunter2hunter2.hunter2hunter2hunter2',
  'shpat_hunter2hunter2hunter2',
  'ya29.hunter2-hunter2_hunter2',
  'https://maps.example/json?key=AIzahunter2hunter2hunter2',
  'x-functions-key: hunter2',
  'masterKey=hunter2',
  'https://x.example/cb?next=redis%3A%2F%2Fdefault%3Ahunter2%40queue',
  'https://x.example/cb?next=postgres%253A%252F%252Fann%253Ahunter2%2540db',
  'postgres%3a%2f%2fann%3ap%40hunter2%40db%2Fshop',
  'connect reader:hunter2@db.example failed',
  'ann:hunter2@10.0.0.1:5432',
  'mysql -uroot -phunter2 shop',
  'mysqldump -h db -phunter2 shop',
  'Command failed: run -pHUNTER2hunter2',
  'curl -u ann:hunter2 https://api.example',
  "curl --user 'ann:hunter2' https://api.example",
  'curl -uann:hunter2 https://api.example',
  'redis-cli -h queue -a hunter2 ping',
  'sshpass -p hunter2 ssh host',
  'dop_v1_hunter2hunter2',
  'glsa_hunter2hunter2',
  'dckr_pat_hunter2hunter2',
  'pypi-hunter2hunter2',
];

/** Ordinary messages, which stay as they are. */
const PLAIN = [
  'connect ECONNREFUSED 10.0.0.1:5432',
  'ssh git@github.com: permission denied',
  'mail ann@example.org bounced at 12:30:00',
  'npm ERR! missing script: build',
  'docker run -p 8080:80 shop',
  'key=value pairs are missing in row 17',
  'tar -pxzf prices.tar failed',
  'listening at 12:30 @ noon',
  "Cannot find module '@scope/name' from node_modules/@scope/other",
  'at load (/app/node_modules/.pnpm/pkg@1.2.3/index.js:12:3)',
  'image images.example/shop:1.2@sha256:abc not found',
  '{ name: "get", args: ["prices"] }',
  'the npm_config file, hf_ models and SG. are words',
  'primary key violation in table prices',
  'hf_hub_download and npm_config_registry are names',
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
