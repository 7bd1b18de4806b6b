import { html, type Html } from './html.ts';

/** Where the things around a task are, for who looks at it. */
export interface TaskLinks {
  task(id: string): string;
  /** Null where the console would not show it. */
  session(id: string): string | null;
}

/** Of another tenant's task the console shows nothing, and each page has to be asked for by the tenant. */
export function taskLinks(tenant: string, isOwn: boolean): TaskLinks {
  const query = isOwn ? '' : `?tenant=${encodeURIComponent(tenant)}`;
  return {
    task: (id) => `/tasks/${id}${query}`,
    session: (id) => (isOwn ? `/sessions/${encodeURIComponent(id)}` : null),
  };
}

/** A text as a link, or as it is where there is nowhere to go. */
export function linked(text: string, href: string | null): Html {
  return href === null ? html`${text}` : html`<a href="${href}">${text}</a>`;
}
