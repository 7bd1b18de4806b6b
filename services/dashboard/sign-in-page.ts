import { html, type Html } from './html.ts';

export interface SignInPageOptions {
  /** Where to go on to afterwards; a path of this site. */
  next: string;
  /** Why the last try did not work. */
  problem?: string;
}

/** The form that asks for a key. */
export function signInPage({ next, problem }: SignInPageOptions): Html {
  return html`<section class="card narrow">
    <h1>Sign in</h1>
    <p class="faint">With an API key. The first one was printed when this installation started for the first time.</p>
    ${problem === undefined ? null : html`<p class="problem" role="alert">${problem}</p>`}
    <form method="post" action="/sign-in">
      <input type="hidden" name="next" value="${next}" />
      <label for="key">API key</label>
      <input
        id="key"
        name="key"
        type="password"
        required
        autofocus
        autocomplete="current-password"
        maxlength="512"
        placeholder="mk_…"
        spellcheck="false"
      />
      <button>Sign in</button>
    </form>
  </section>`;
}
