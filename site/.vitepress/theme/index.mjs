import { onContentUpdated } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { onMounted } from 'vue';
import { foldLongPage, unfoldTarget } from './fold-sections.mjs';
import './style.css';

export default {
  extends: DefaultTheme,
  setup() {
    onContentUpdated(foldLongPage);
    onMounted(() => {
      addEventListener('hashchange', unfoldTarget);
      // A link to what the address has already changes no address.
      addEventListener('click', ({ target }) => target.closest?.('a[href*="#"]') && setTimeout(unfoldTarget));
    });
  },
};
