// Archive: to be written.
