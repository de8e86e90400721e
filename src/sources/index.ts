// Loads ready made, for the option `load`.

export type { HttpSourceOptions } from './http-options.ts';
export type { HttpTarget } from './http-request.ts';
export type { HttpFetch, HttpInit, HttpResponse } from './http-response.ts';
export { httpSource } from './http-source.ts';
export type { Body, Format, Parse, ParseOptions } from './parse.ts';
export type { Source, SourceContext, SourceMeta } from './source.ts';
