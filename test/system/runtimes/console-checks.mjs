// What the console must do in a runtime that gets a Request and returns a Response. Runs outside of it.

const OPERATOR = { 'x-operator': 'ann', origin: 'http://localhost', 'sec-fetch-site': 'same-origin' };

function check(holds, what) {
  if (!holds) throw new Error(`the console: does not hold: ${what}`);
}

/** Reads server-sent events until an overview arrives that is as it should be. */
async function hasHeard(reader, isIt) {
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    check(!done, 'the stream goes on');
    text += new TextDecoder().decode(value);
    const messages = text.split('\n\n');
    text = messages.pop();
    const data = messages.flatMap((message) => message.split('event: overview\ndata: ')[1] ?? []);
    if (data.some((json) => isIt(JSON.parse(json)))) return;
  }
}

/** @param fetch sends a request for a path to the worker. */
export async function checkConsole(fetch) {
  const get = (path, headers = OPERATOR) => fetch(`/tickless/${path}`, { headers });
  const act = (action, body, headers) => {
    const own = { ...OPERATOR, 'content-type': 'application/json', ...headers };
    const init = { method: 'POST', headers: own, body: JSON.stringify(body) };
    return fetch(`/tickless/api/actions/${action}`, init);
  };
  const refused = await get('', {});
  check(refused.status === 403 && !(await refused.text()).includes('<'), '403 without an operator');
  const page = await get('');
  check(page.status === 200 && (await page.text()).includes('app.js'), 'the page');
  check((await get('app.js')).headers.get('content-type').includes('javascript'), 'its script');
  const { members } = await (await get('api/overview')).json();
  check(members.map(({ name, here }) => `${name} ${here.state}`).join() === 'rates empty', 'the overview');

  check((await act('refresh', { id: 'rates' }, {})).status === 403, 'no action without a token');
  check((await (await fetch('/value')).text()) === '', 'nothing was done');
  const { token } = await (await get('api/session')).json();
  const signed = { 'x-tickless-token': token };
  // A page stays live when the one that was opened after it has left.
  const [first, second] = [await get('api/live'), await get('api/live')].map(({ body }) => body.getReader());
  await Promise.all([first, second].map((reader) => hasHeard(reader, ({ changed }) => changed.length === 1)));
  await second.cancel();
  check((await act('refresh', { id: 'rates' }, signed)).status === 200, 'an action');
  check((await (await fetch('/value')).text()) === 'loaded', 'what it has done');
  await hasHeard(first, ({ changed }) => changed[0]?.here.state === 'fresh');
  await first.cancel();

  for (const action of ['pause', 'resume']) {
    check((await act(action, { id: 'rates' }, signed)).status === 200, `${action} on all instances`);
  }
  const { records } = await (await get('api/audit')).json();
  check(records.map(({ action }) => action).join() === 'resume,pause,refresh', 'the audit');
  return 'the console';
}
