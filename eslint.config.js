import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  globalIgnores(['dist/', 'build/', 'examples/web/dist/', 'js/environments/typescript/']),
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // Numbers read well in the text of an error.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      // The compiler option noPropertyAccessFromIndexSignature asks for the same.
      '@typescript-eslint/dot-notation': ['error', { allowIndexSignaturePropertyAccess: true }],
    },
  },
  {
    // What a browser loads must not lean on Node.
    files: ['js/src/**/*.ts'],
    ignores: ['js/src/node.ts', 'js/src/*-node.ts'],
    rules: {
      'no-restricted-imports': ['error', { patterns: ['node:*', 'ws', '*-node.js'] }],
      'no-restricted-globals': ['error', 'Buffer', 'global', 'process', 'require', 'setImmediate'],
    },
  },
  {
    files: ['js/test/**/*.ts'],
    rules: {
      // A test that is wrong about what is there fails, and nobody is hurt.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // node:test reports what the promise of a test says.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', package: 'node:test', name: ['after', 'before', 'describe', 'it', 'suite', 'test'] },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.js', '**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: {
        AbortController: 'readonly',
        Buffer: 'readonly',
        FormData: 'readonly',
        TextDecoder: 'readonly',
        TextEncoder: 'readonly',
        TransformStream: 'readonly',
        URL: 'readonly',
        URLSearchParams: 'readonly',
        WebAssembly: 'readonly',
        WebSocket: 'readonly',
        Worker: 'readonly',
        atob: 'readonly',
        btoa: 'readonly',
        clearTimeout: 'readonly',
        console: 'readonly',
        crypto: 'readonly',
        document: 'readonly',
        location: 'readonly',
        navigator: 'readonly',
        performance: 'readonly',
        process: 'readonly',
        self: 'readonly',
        setTimeout: 'readonly',
      },
    },
  },
);
