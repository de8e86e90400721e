import { render } from 'preact';
import { open, session } from './api.ts';
import { App, failure } from './app.tsx';
import { follow } from './feed.ts';
import { followRoute } from './route.ts';
import { followTab } from './tab.ts';

render(<App />, document.getElementById('app') as HTMLElement);
followRoute();
followTab();
open().then(
  () => follow((message) => (failure.value = message)),
  (error: Error) => {
    failure.value = error.message;
    if (session.value === undefined) follow((message) => (failure.value = message));
  },
);
