import { type Signal, signal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ActionName } from '../action-names.ts';
import { act } from './api.ts';
import { text } from './format.ts';

/** A field that the operator fills in. */
export interface Field {
  readonly name: 'note' | 'everyMs' | 'holdMs' | 'here';
  readonly label: string;
  /** A number of minutes, sent as milliseconds. */
  readonly isMinutes?: boolean;
  readonly isRequired?: boolean;
  /** A box to tick, sent as `true`. */
  readonly isFlag?: boolean;
}

/** An action that waits for the operator's word. */
export interface Asked {
  readonly action: ActionName;
  /** What it is done to. */
  readonly target: string;
  /** What it does, in one sentence. */
  readonly says: string;
  readonly label: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly fields?: readonly Field[];
  /** Once it was answered. */
  readonly then?: () => void;
}

const asked: Signal<Asked | undefined> = signal(undefined);
const isBusy: Signal<boolean> = signal(false);
const outcome: Signal<{ readonly isDone: boolean; readonly message: string } | undefined> = signal(undefined);

export function ask(action: Asked): void {
  outcome.value = undefined;
  asked.value = action;
}

/** The dialog of the browser: it keeps the focus, and Escape closes it. */
export function Confirm(): ComponentChild {
  const dialog = useRef<HTMLDialogElement>(null);
  const what = asked.value;
  useLayoutEffect(() => {
    if (what !== undefined && dialog.current?.open === false) dialog.current.showModal();
  }, [what]);
  if (what === undefined) return null;
  const close = (): void => {
    if (asked.value !== what) return; // left meanwhile, perhaps for another action
    dialog.current?.close(); // gives the focus back
    asked.value = undefined;
  };
  // The browser tells of it with its next frame: the operator may have asked for another action meanwhile.
  const closed = (): void => {
    if (asked.value === what && dialog.current?.open !== true) asked.value = undefined;
  };
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    isBusy.value = true;
    try {
      const message = await act(what.action, { ...what.body, ...filled(what, form) });
      outcome.value = { isDone: true, message: `${what.label}: ${message}` };
    } catch (error) {
      outcome.value = { isDone: false, message: `${what.label}: ${(error as Error).message}` };
    } finally {
      isBusy.value = false;
      what.then?.(); // what was refused may have been out of date
      close();
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="asked" onClose={closed}>
      <form method="dialog" onSubmit={(event) => void submit(event)}>
        <h2 id="asked">{what.label}</h2>
        <p class="target">
          <bdi>{text(what.target, 200)}</bdi>
        </p>
        <p>{what.says}</p>
        {what.fields?.map(({ name, label, isMinutes, isRequired, isFlag }) => (
          <label key={name} class={isFlag ? 'field flag' : 'field'}>
            <span>{label}</span>
            {isFlag ? (
              <input name={name} type="checkbox" />
            ) : isMinutes ? (
              <input
                name={name}
                type="number"
                min="0.1"
                step="any"
                max="525600"
                required={isRequired === true}
              />
            ) : (
              <input name={name} type="text" maxLength={500} required={isRequired === true} />
            )}
          </label>
        ))}
        <p class="buttons">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="go" disabled={isBusy.value}>
            {isBusy.value ? 'Working…' : what.label}
          </button>
        </p>
      </form>
    </dialog>
  );
}

/** What the console answered to the last action. */
export function Outcome(): ComponentChild {
  const shown = outcome.value;
  return (
    <div class="outcome" aria-live="assertive" role="status">
      {shown && (
        <p class={shown.isDone ? 'done' : 'failed'}>
          <span>{text(shown.message)}</span>
          <button type="button" aria-label="Close this message" onClick={() => (outcome.value = undefined)}>
            ✕
          </button>
        </p>
      )}
    </div>
  );
}

function filled({ fields = [] }: Asked, form: FormData): Record<string, unknown> {
  const given = fields.flatMap(({ name, isMinutes, isFlag }) => {
    const value = String(form.get(name) ?? '').trim();
    if (value === '') return [];
    return [[name, isFlag ? true : isMinutes ? Math.round(Number(value) * 60_000) : value]];
  });
  return Object.fromEntries(given);
}
