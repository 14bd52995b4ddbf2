/** Within the shell, which has the page's one `main`. */
export { NotFoundState as default } from '../components/not-found-state';
