import { CONSOLE_PAGES, type ListedPage } from '../../console-pages.ts';

interface FoundPage {
  readonly page: ListedPage;
  readonly params: Readonly<Record<string, string>>;
}

/** The page at an address; null when there is none. */
export function findPage(path: string): FoundPage | null {
  for (const page of CONSOLE_PAGES) {
    const params = matchPath(page.path, path);
    if (params !== null) return { page, params };
  }
  return null;
}

/** The decoded parts of a path that fits a pattern; null when it does not. */
function matchPath(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split('/');
  const parts = path.length > 1 && path.endsWith('/') ? path.slice(0, -1).split('/') : path.split('/');
  if (wanted.length !== parts.length) return null;
  const params: Record<string, string> = {};
  for (const [place, name] of wanted.entries()) {
    const part = decode(parts[place] ?? '');
    if (part === null) return null;
    if (name.startsWith(':') && part !== '') params[name.slice(1)] = part;
    else if (name !== part) return null;
  }
  return params;
}

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
