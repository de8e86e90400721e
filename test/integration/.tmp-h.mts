import { createPool } from 'mysql2/promise';
import { startMariadb } from './support/servers.ts';
import { MysqlSql } from '../../src/sql/mysql.ts';
import { mysqlLock } from '../../src/lock/mysql.ts';
import { mysqlStore } from '../../src/store/mysql.ts';
import { mysqlLock as oldLock } from '/tmp/my-h/old/src/lock/mysql.ts';
import { mysqlStore as oldStore } from '/tmp/my-h/old/src/store/mysql.ts';
const s = await startMariadb();
try {
  for (const options of [{}, { charset: 'LATIN1_SWEDISH_CI' }, { charset: 'UTF8MB4_BIN' }]) {
    const pool = createPool({ uri: s.url, ...options });
    const lock = mysqlLock({ client: pool });
    for (let i = 0; i < 200; i++) await lock.acquire({ name: `n${i}` });
    const sql = new MysqlSql(pool, 3000);
    for (const q of ['EXPLAIN SELECT * FROM tickless_lock WHERE name = :name', 'EXPLAIN UPDATE tickless_lock SET host = host WHERE name = :name', 'EXPLAIN SELECT CAST(name AS BINARY) AS name FROM tickless_lock ORDER BY tickless_lock.name LIMIT 10'])
      console.log(JSON.stringify(options), (await sql.query(q, { name: 'n7' })).map((r: any) => [r.type, r.key, r.rows, r.Extra].join(' ')));
    await pool.end();
  }
  const pool = createPool({ uri: s.url });
  const bench = async (label: string, step: () => Promise<unknown>, n: number) => { for (let i = 0; i < n / 4; i++) await step(); const t = performance.now(); for (let i = 0; i < n; i++) await step(); console.log(label, ((performance.now() - t) / n).toFixed(3), 'ms'); };
  const MB = JSON.stringify({ x: 'it\'s "x" ä\\'.repeat(70_000) });
  for (let round = 0; round < 2; round++) for (const [l, lk, st] of [['old', oldLock, oldStore], ['new', mysqlLock, mysqlStore]] as const) {
    const lock = lk({ client: pool } as never), store = st({ client: pool } as never);
    await bench(`${l} acquire`, () => lock.acquire({ name: 'b' }), 400);
    await bench(`${l} inspect`, () => lock.inspect('b'), 400);
    await bench(`${l} write 1 kB`, () => store.write('b', 'x'.repeat(1000)), 200);
    await bench(`${l} write 1 MB`, () => store.write('b', MB), 20);
    await bench(`${l} read 1 MB`, () => store.read('b'), 20);
  }
  await pool.end();
} finally { await s.close(); }
