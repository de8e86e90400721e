import { runAll } from './program.mjs';

console.log(await runAll());
