// The measured load, here or in a thread: reads JSON and converts it to the form of SHAPE.

import { readFile } from 'node:fs/promises';

const shapes = {
  'an array of objects': (rows) => rows,
  'a Map by code': (rows) => new Map(rows.map((row) => [row.code, row])),
  'an object by code': (rows) => Object.fromEntries(rows.map((row) => [row.code, row])),
  'columns: typed arrays, one text': (rows) => ({
    latitude: Float64Array.from(rows, ({ lat }) => lat),
    longitude: Float64Array.from(rows, ({ lon }) => lon),
    names: new TextEncoder().encode(rows.map(({ code, city }) => `${code}\t${city}`).join('\n')),
  }),
  'two indexes of the same objects': (rows) => {
    const byCity = new Map(rows.map(({ city }) => [city, []]));
    for (const row of rows) byCity.get(row.city).push(row);
    return { byCode: new Map(rows.map((row) => [row.code, row])), byCity };
  },
};

export const load = async () => {
  const { FILE = '', SHAPE = '' } = process.env;
  return shapes[SHAPE](JSON.parse(await readFile(FILE, 'utf8')));
};
