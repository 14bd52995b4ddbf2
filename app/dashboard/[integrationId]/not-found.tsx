/** Rendered inside the shell, which holds the page's only `main`. */
export { NotFoundState as default } from '../components/not-found-state';
