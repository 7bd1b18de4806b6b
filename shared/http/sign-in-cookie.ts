import type { CookieOptions, Request, Response } from 'express';

const NAME = 'muster_session';
const VALUE = /^[\w-]{43}$/;

export interface SignInCookieOptions {
  /** The public address, when the operator gave one. */
  publicUrl: string | undefined;
  /** How long the browser keeps it, in milliseconds. */
  lifetimeMs: number;
}

/** SignInCookie is responsible for how a sign-in's id travels, so that no script and no other site's form can use it. */
export class SignInCookie {
  readonly #options: SignInCookieOptions;

  constructor(options: SignInCookieOptions) {
    this.#options = options;
  }

  read(request: Request): string | null {
    const wanted = `${this.#nameFor(request)}=`;
    const found = (request.get('cookie') ?? '').split(';').find((pair) => pair.trim().startsWith(wanted));
    const value = found?.trim().slice(wanted.length);
    return value !== undefined && VALUE.test(value) ? value : null;
  }

  write(response: Response, id: string): void {
    response.cookie(this.#nameFor(response.req), id, { ...this.#attributes(response.req), maxAge: this.#options.lifetimeMs });
  }

  clear(response: Response): void {
    response.clearCookie(this.#nameFor(response.req), this.#attributes(response.req));
  }

  /** `__Host-` makes browsers refuse one that a neighbouring subdomain or a plain connection tries to plant. */
  #nameFor(request: Request): string {
    return this.#isSecure(request) ? `__Host-${NAME}` : NAME;
  }

  /**
   * Lax, not Strict: a link from a chat message or a ticket has to find the person signed in. What a link can do is read;
   * everything that changes something also has to come from this site, see `assertSameOrigin`.
   */
  #attributes(request: Request): CookieOptions {
    return { httpOnly: true, sameSite: 'lax', path: '/', secure: this.#isSecure(request) };
  }

  #isSecure(request: Request): boolean {
    return request.secure || this.#options.publicUrl?.startsWith('https:') === true;
  }
}
