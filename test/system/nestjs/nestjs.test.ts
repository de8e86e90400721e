import 'reflect-metadata';
import { it } from 'node:test';
it('x', () => {});
