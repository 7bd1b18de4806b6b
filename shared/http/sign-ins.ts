import type { Request, Response } from 'express';
import { type ApiKey, SignInStore } from '../tenants/index.ts';
import type { HttpParts } from './http-parts.ts';
import { SignInCookie } from './sign-in-cookie.ts';

/** SignIns is responsible for whose key a browser acts with, so that every service knows a person who signed in at one of them. */
export class SignIns {
  readonly #store: SignInStore;
  readonly #cookie: SignInCookie;

  constructor({ redis, keys, config }: HttpParts) {
    const lifetimeMs = config.settings.http.signInMs;
    this.#store = new SignInStore({ redis, keys, lifetimeMs });
    this.#cookie = new SignInCookie({ publicUrl: config.env.MUSTER_PUBLIC_URL, lifetimeMs });
  }

  /** The key that the browser signed in with, as it is now; null when it did not, or no longer. */
  async find(request: Request): Promise<ApiKey | null> {
    const id = this.#cookie.read(request);
    return id === null ? null : await this.#store.find(id);
  }

  /** Signs the browser in with this secret, which the caller has checked, instead of whatever it was signed in with. */
  async open(request: Request, response: Response, secret: string): Promise<void> {
    const before = this.#cookie.read(request);
    if (before !== null) await this.#store.close(before);
    this.#cookie.write(response, await this.#store.open(secret));
  }

  /** Signs the browser out, here and in Redis. */
  async close(request: Request, response: Response): Promise<void> {
    const id = this.#cookie.read(request);
    if (id !== null) await this.#store.close(id);
    this.#cookie.clear(response);
  }
}
