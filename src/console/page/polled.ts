import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { get } from './api.ts';
import { overview } from './state.ts';

/** The answer of the API, asked for again with each change of the overview while it is shown, one question at a time. */
export function usePolled<T>(
  path: string,
  query: Readonly<Record<string, string>> = {},
): {
  readonly data: Signal<T | undefined>;
  readonly error: Signal<string | undefined>;
  readonly again: () => void;
} {
  const data = useSignal<T | undefined>(undefined);
  const error = useSignal<string | undefined>(undefined);
  const asked = useSignal(0);
  const asking = useRef<string | undefined>(undefined);
  const key = JSON.stringify([path, query]);
  const at = Math.floor((overview.value?.at ?? 0) / 1000); // once a second at most
  useEffect(() => {
    data.value = undefined;
  }, [key]);
  useEffect(() => {
    const question = `${asked.value} ${key}`;
    if (asking.current === question) return; // a slow answer is waited for
    asking.current = question;
    const isPresent = (): boolean => asking.current === question;
    get<T>(path, query)
      .then(
        (answer) => {
          if (!isPresent()) return;
          data.value = answer;
          error.value = undefined;
        },
        (failure: Error) => {
          if (isPresent()) error.value = failure.message;
        },
      )
      .finally(() => {
        if (isPresent()) asking.current = undefined;
      });
  }, [key, at, asked.value]);
  const again = (): void => {
    asked.value += 1;
  };
  return { data, error, again };
}
