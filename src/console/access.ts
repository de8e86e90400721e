import type { ActionName } from './action-names.ts';
import { type Authorized, chosen, type Operator, type ResolvedConsoleOptions } from './console-options.ts';

/** An operator with the rights of this request. */
export interface Access {
  readonly by: string;
  readonly actions: ReadonlySet<ActionName>;
}

/** In characters. */
const LONGEST_NAME = 200;

const HOW =
  "The console needs the option authorize: consoleHandler(group, { authorize: (request) => 'name of the operator' or undefined }).";

/** The operator that sends a request; a text: why it is refused; a response of `authorize`: that. Never rejects. */
export async function accessOf(
  request: Request,
  context: unknown,
  { authorize, actions }: Pick<ResolvedConsoleOptions, 'authorize' | 'actions'>,
): Promise<Access | Response | string> {
  if (authorize === undefined) return HOW;
  let answer: Authorized;
  try {
    answer = await authorize(request, context);
  } catch {
    return 'access is refused'; // the error may have details that are not for strangers
  }
  if (answer instanceof Response) return answer;
  const operator: Operator | undefined = typeof answer === 'string' ? { by: answer } : answer || undefined;
  const { by, actions: own = true } = operator ?? {};
  if (typeof by !== 'string' || by.trim() === '') return 'access is refused';
  const isRight = typeof own === 'boolean' || Array.isArray(own);
  return { by: by.slice(0, LONGEST_NAME), actions: new Set(isRight ? chosen(own, actions) : []) };
}
