import type { RequestHandler } from 'express';
import type { SignIns } from '#shared/http/index.ts';
import { html, sendPage } from '../pages/page.ts';

/** `GET /sign-out`: asks, because a link alone must not sign anybody out. */
export function showSignOut(): RequestHandler {
  return (_request, response) => {
    const content = html`<section class="card narrow">
      <h1>Sign out</h1>
      <form method="post" action="/sign-out"><button>Sign out</button></form>
    </section>`;
    sendPage(response, { title: 'Sign out', person: null, content });
  };
}

/** `POST /sign-out`: ends the sign-in here and in Redis. */
export function signOut(signIns: SignIns): RequestHandler {
  return async (request, response) => {
    await signIns.close(request, response);
    response.redirect(303, '/sign-in');
  };
}
