import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The folder of the repository, with a slash at its end. */
export const root: string = fileURLToPath(new URL('../../', import.meta.url));

/** A block of code in a text. */
export interface Block {
  /** Says where it stands. */
  readonly name: string;
  /** What it is written in; empty for a picture or the output of a program. */
  readonly language: string;
  /** What follows the language: `no-run: REASON`, `continues`, or nothing. */
  readonly mark: string;
  readonly code: string;
}

/** Finds the blocks of code in a text. */
export function blocks(name: string, text: string): Block[] {
  return [...text.matchAll(/^( *)```(\S*) *(.*)\n([^]*?)^\1```$/gm)].map(
    ([, indent = '', language = '', mark = '', code = ''], i) => ({
      name: `${name}, block ${i + 1}`,
      language,
      mark,
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

/** The documents of the repository, by their paths. */
export async function documents(): Promise<Map<string, string>> {
  return texts(['', 'docs/', '.github/'], '.md');
}

/** The TypeScript sources, by their paths. */
export async function sources(): Promise<Map<string, string>> {
  return texts(['js/src/'], '.ts');
}

async function texts(folders: readonly string[], ending: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const folder of folders) {
    for (const name of (await readdir(root + folder)).filter((file) => file.endsWith(ending)).sort()) {
      found.set(folder + name, await readFile(root + folder + name, 'utf8'));
    }
  }
  return found;
}
