// What people load from, ready made: for the option `load`.

export { type FileSourceOptions, fileSource } from './file-source.ts';
export type { Body, Format, Parse, ParseOptions } from './parse.ts';
export type { Source, SourceContext, SourceMeta } from './source.ts';
