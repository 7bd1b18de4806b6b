import type { RequestHandler } from 'express';
import { html } from './html.ts';
import { sendPage } from './send-page.ts';
import type { SessionCookie } from './session-cookie.ts';
import type { SessionStore } from './session-store.ts';

/** `GET /sign-out`: asks, because a link alone must not end a session. */
export function showSignOut(): RequestHandler {
  return (_request, response) => {
    const content = html`<section class="card narrow">
      <h1>Sign out</h1>
      <form method="post" action="/sign-out"><button>Sign out</button></form>
    </section>`;
    sendPage(response, { title: 'Sign out', visitor: null, content });
  };
}

/** `POST /sign-out`: ends the session here and in Redis. */
export function signOut(sessions: SessionStore, cookie: SessionCookie): RequestHandler {
  return async (request, response) => {
    const id = cookie.read(request);
    if (id !== null) await sessions.close(id);
    cookie.clear(response);
    response.redirect(303, '/sign-in');
  };
}
