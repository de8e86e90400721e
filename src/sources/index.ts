// What people load from, ready made: for the option `load`.

export type { Body, Format, Parse, ParseOptions } from './parse.ts';
export type { Source, SourceContext, SourceMeta } from './source.ts';
